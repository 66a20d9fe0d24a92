/** Limits of one outgoing message, as they are unless an operator says otherwise. */
export const OUTGOING_LIMITS = {
  mailRecipientsPerMessage: 50,
  mailBodyBytes: 1024 * 1024,
  mailAttachments: 20,
  mailRequestBytes: 10 * 1024 * 1024,
};
