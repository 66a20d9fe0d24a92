/**
 * What the bundle for browsers exports: the library and the client.
 *
 * @module
 */
export * from "../mod.ts";
export * from "../client/mod.ts";
