import assert from "node:assert/strict";
import { hashToken } from "./hashed_token.ts";
import { TokenHashes } from "./token_hashes.ts";

Deno.test("TokenHashes gives what hashToken() makes, at first, again, and with more tokens than it keeps", () => {
  const hashes = new TokenHashes(3);
  const tokens = ["", "rt_owner_a", "rt_mcp_b", "ü", "x".repeat(1_000), "rt_owner_A"];
  for (let round = 0; round < 3; round++) {
    for (const token of tokens) {
      const made = hashes.of(token);
      assert.equal(made, hashToken(token));
      assert.equal(hashes.of(token), made);
    }
  }
});
