/**
 * The greatest id that the API takes: 2^53-1, the greatest integer that every JSON reader tells
 * from its neighbours.
 */
export const MAX_ID = Number.MAX_SAFE_INTEGER;
