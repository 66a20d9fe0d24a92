"""Has the library of Standard Webhooks verify deliveries: a line of JSON each in a file."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

for line in open(sys.argv[1], encoding="utf-8"):
    delivery = json.loads(line)
    try:
        event = Webhook(delivery["secret"]).verify(delivery["text"], delivery["headers"])
        print(json.dumps(event["id"]))
    except WebhookVerificationError as error:
        print(json.dumps({"refused": str(error)}))
