/** The answer to a request after which there is nothing to show: 204. */
export function noContent(): Response {
  return new Response(null, { status: 204 });
}
