/**
 * Goes on with a value: at once where it is there, else when it comes. A request that memory can
 * answer then waits for nothing; an await would cost it a turn of the loop of promises each.
 */
export function whenReady<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
