/**
 * The protocol of the relay, pure and offline: canonical JSON and its hashes, addresses and word
 * names, signed requests, and the verifier of received messages.
 *
 * @module
 */
export { AddressError, type AddressErrorCode } from "./address_error.ts";
export { canonicalJson } from "./canonical_json.ts";
export { canonicalString, parseCanonicalString, type SignedParts } from "./canonical_string.ts";
export { contentHash } from "./content_hash.ts";
export { decodeAddress } from "./decode_address.ts";
export { encodeAddress } from "./encode_address.ts";
export { generateKeyPair, type KeyPair, keyPairFromHex } from "./generate_key_pair.ts";
export type { ContentType, InboxMessage } from "./inbox_message.ts";
export { isWordNameOf } from "./is_word_name_of.ts";
export { JsonError, type JsonErrorCode } from "./json_error.ts";
export type { JsonPosition } from "./json_position.ts";
export type { JsonObject, JsonValue } from "./json_value.ts";
export { MessageError, type MessageErrorCode } from "./message_error.ts";
export type { MessageReport } from "./message_report.ts";
export { type Overall, overall } from "./overall.ts";
export { MAX_JSON_DEPTH, parseStrict, type ParseStrictOptions } from "./parse_strict.ts";
export type { Addressee, Recipient } from "./recipient.ts";
export { type RequestSignature, signRequest, type UnsignedRequest } from "./sign_request.ts";
export { hasStrictKeyForm, hasStrictSignatureForm, isStrictPublicKey } from "./strict_signature.ts";
export { verifyMessage, type VerifyMessageOptions } from "./verify_message.ts";
export { verifySignature } from "./verify_signature.ts";
export { wordName } from "./word_name.ts";
