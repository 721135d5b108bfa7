import base64
import json
import sys

from generated.api.applications import (
    applications_create,
    applications_delete,
    applications_list,
    applications_show,
    applications_update,
)
from generated.api.events import events_report, events_report_batch
from generated.api.webhooks import (
    webhooks_create,
    webhooks_delete,
    webhooks_list,
    webhooks_show,
    webhooks_update,
)
from generated.client import AuthenticatedClient
from generated.models import (
    CreateApplication,
    CreateWebhook,
    CreateWebhookHeadersType0,
    CreateWebhookPayloadType0,
    CreateWebhookRetryType0,
    EventBatch,
    EventKind,
    ReportedEvent,
    ReportedEventData,
    Resource,
    Signature,
    UpdateApplication,
    UpdateWebhook,
)

base_url, customer, platform = sys.argv[1:]


def client_of(login):
    token = base64.b64encode(login.encode()).decode()
    return AuthenticatedClient(base_url=base_url, token=token, prefix="Basic")


def id_of(address):
    return address.href.rsplit("/", 1)[1]


client = client_of(customer)

created = applications_create.sync(
    client=client,
    body=CreateApplication(
        name="Shop", voice_url="https://shop.example.com/voice", messaging_url=None
    ),
)
id = id_of(created)
applications_update.sync(id, client=client, body=UpdateApplication(name="Shop 2"))
applications = applications_list.sync(client=client)
shown = applications_show.sync(id, client=client)

webhook_id = id_of(
    webhooks_create.sync(
        client=client,
        body=CreateWebhook(
            event=EventKind.CDRCREATED,
            resource="all",
            target_url="https://hooks.example.com/switchhook",
            retry=CreateWebhookRetryType0(schedule=[10, 60]),
            signature=Signature.ED25519,
            headers=CreateWebhookHeadersType0.from_dict({"X-Api-Key": "f2c1a0b9"}),
            payload=CreateWebhookPayloadType0.from_dict({"order": 4711}),
        ),
    )
)
webhooks_update.sync(webhook_id, client=client, body=UpdateWebhook(name="Billing"))
webhooks = webhooks_list.sync(client=client)
webhook = webhooks_show.sync(webhook_id, client=client)



def event_of(application_id):
    return ReportedEvent(
        event=EventKind.CDRCREATED,
        resource=Resource.CALL,
        application_id=application_id,
        data=ReportedEventData.from_dict({"duration": 33}),
    )


producer = client_of(platform)
reported = events_report.sync(client=producer, body=event_of(id))
batch = events_report_batch.sync(
    client=producer, body=EventBatch(events=[event_of(id), event_of("0")])
)

webhooks_delete.sync(webhook_id, client=client)
applications_delete.sync(id, client=client)
refusal = applications_show.sync(id, client=client)

print(
    json.dumps(
        {
            "applications": len(applications),
            "name": shown.name,
            "voiceUrl": shown.voice_url,
            "webhooks": len(webhooks),
            "label": webhook.name,
            "signature": webhook.signature.value,
            "schedule": webhook.retry.schedule,
            "headers": webhook.headers.to_dict(),
            "payload": webhook.payload.to_dict(),
            "deliveries": reported.deliveries,
            "batch": [one.code.value if one.code else one.deliveries for one in batch.results],
            "refusal": refusal.code.value,
        }
    )
)
