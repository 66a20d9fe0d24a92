/** Trust of a TLS connection in one more authority than the runtime trusts by itself. */
import { type ConnectionOptions, createSecureContext, type SecureVersion } from "node:tls";

/**
 * What makes a connection of node:tls trust an authority of one's own as well. The option `ca` would
 * have it trust nobody else, and the list that it could be added to (`rootCertificates`) takes a
 * permission that no flag of the runtime can name. A context that was made without `ca` rests on the
 * runtime's authorities, and takes further ones (docs/adr/0019).
 *
 * @param caPem one or more certificates; what is none is passed over
 */
export function oneAuthorityMore(
  caPem: string,
  minVersion: SecureVersion,
): Pick<ConnectionOptions, "secureContext" | "ca"> {
  const secureContext = createSecureContext({ minVersion });
  // Deno before 2.6 has contexts that hold nothing; there `ca` adds to the runtime's authorities.
  const { context } = secureContext as { context?: { addCACert(pem: string): void } };
  if (context === undefined) return { ca: [caPem] };
  context.addCACert(caPem);
  return { secureContext };
}
