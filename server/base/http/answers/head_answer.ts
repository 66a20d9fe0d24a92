/**
 * The answer to a HEAD as the runtime must get it: an answer without a Content-Length stays without
 * one. For an answer without a body the runtime would say that GET sends 0 bytes (RFC 9110, section
 * 8.6).
 */
export function headAnswer(answer: Response): Response {
  const { status, headers } = answer;
  // 304 and 204 have no body by themselves.
  if (headers.has("content-length") || status === 304 || status === 204) return answer;
  return new Response(new ReadableStream({ start: (body) => body.close() }), { status, headers });
}
