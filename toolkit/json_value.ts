/** A value that JSON text can express: what {@linkcode parseStrict} returns and canonicalJson takes. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Its members are own properties, `__proto__` among them. */
export type JsonObject = { [name: string]: JsonValue };
