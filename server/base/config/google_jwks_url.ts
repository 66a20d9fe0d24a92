/** Where Google publishes the keys of its ID tokens, unless RELAY_GOOGLE_JWKS_URL says otherwise. */
export const GOOGLE_JWKS_URL = "https://www.googleapis.com/oauth2/v3/certs";
