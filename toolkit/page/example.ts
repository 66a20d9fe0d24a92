import type { InboxMessage } from "../mod.ts";

/** A message to try the page with; its keys were made for it and thrown away. */
export const EXAMPLE_MESSAGE: InboxMessage = {
  "id": 187391,
  "from": "Ct7WSBaf8PzP4AN3ywrMFnGDef2XuQs8VNj6FtjYqj61",
  "from_handle": "parcel_desk",
  "from_word_name": "elastic-tomato-beluga",
  "body": {
    "subject": "Delivery",
    "text": "The parcel is at the north gate. Please fetch it before six.",
  },
  "content_hash": "e03f8094b789954dffc4f90ef70c77208d7ea6ed97497ad65f8505a469d9d415",
  "signature":
    "8oJ8zpMEnE5DLV8t7zp1bB30bgd3QPtoorJn5Gmb5j4GKyrS5pHsU8lJW4U1xANsjN3dJyHXIxJqNLSznqScBQ==",
  "canonical_string":
    "relay:v1:POST:/v1/messages:ca47ed24f43f6e0e3037942eac76d4b27a0faebe08d2ff713cb6467d798bd152:1760000000",
  "in_reply_to": null,
  "content_type": "text",
  "created_at": "2025-10-09T08:53:20.250Z",
};

/** Who sent it. */
export const EXAMPLE_SENDER = "Ct7WSBaf8PzP4AN3ywrMFnGDef2XuQs8VNj6FtjYqj61";

/** Who received it. */
export const EXAMPLE_RECIPIENT = "FZWNaHvU9rkSNh4vzaFQJaRbTwdugEo3VD3VAiZNnXP5";

/** The same message after somebody changed one word of its text. */
export const ALTERED_EXAMPLE: InboxMessage = {
  ...EXAMPLE_MESSAGE,
  body: {
    subject: "Delivery",
    text: "The parcel is at the south gate. Please fetch it before six.",
  },
};
