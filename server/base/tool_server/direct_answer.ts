/** The answer to a direct request, with its JSON at hand: nobody has to read it back out of its body. */
export class DirectAnswer extends Response {
  constructor(readonly content: string) {
    super(content, { headers: { "Content-Type": "application/json" } });
  }
}
