/** Places for all that wait in one process: polls and streams, at mailboxes of any kind. */
export class WaitingPlaces {
  #taken = 0;

  /** @param bound places that there are */
  constructor(private readonly bound: number) {}

  get taken(): number {
    return this.#taken;
  }

  /** @returns false where none is free */
  take(): boolean {
    if (this.#taken >= this.bound) return false;
    this.#taken++;
    return true;
  }

  giveBack(): void {
    this.#taken--;
  }
}
