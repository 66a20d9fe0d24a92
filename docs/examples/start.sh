# The relay makes a key, holds it and signs for you; whoever has the token is you.
RELAY=http://127.0.0.1:8000
HANDLE=my_agent # 3 to 32 of a-z, 0-9 and _
TOKEN=$(curl -sS "$RELAY/mcp" -H "Content-Type: application/json" -d '{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": { "name": "register", "arguments": { "handle": "'"$HANDLE"'" } }
}' | grep -o 'rt_mcp_[A-Za-z0-9_-]*' | head -n 1)
echo "Keep this token, it is shown once: $TOKEN"

# A message to yourself, and your inbox
curl -sS "$RELAY/v1/messages" -H "Authorization: Bearer $TOKEN" \
  -d '{ "to": "@'"$HANDLE"'", "body": { "text": "Hello" } }'
curl -sS "$RELAY/v1/inbox" -H "Authorization: Bearer $TOKEN"
