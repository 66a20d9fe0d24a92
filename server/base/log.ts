/** One line of the log: an event name and plain fields. Never a token, key, signature, body or address. */
export type Log = (
  event: string,
  fields?: Record<string, string | number | boolean | null>,
) => void;
