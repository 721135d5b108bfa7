import json
import sys

from generated import ApiClient, Configuration
from generated.api import ApplicationsApi, EventsApi, WebhooksApi
from generated.exceptions import NotFoundException
from generated.models import (
    CreateApplication,
    CreateWebhook,
    CreateWebhookRetry,
    EventBatch,
    EventKind,
    ReportedEvent,
    Resource,
    Signature,
    UpdateApplication,
    UpdateWebhook,
)

base_url, customer, platform = sys.argv[1:]


def client_of(login):
    username, password = login.split(":")
    return ApiClient(Configuration(host=base_url, username=username, password=password))


def id_of(address):
    return address.href.rsplit("/", 1)[1]


applications_api = ApplicationsApi(client_of(customer))
id = id_of(
    applications_api.applications_create(
        CreateApplication(name="Shop", voice_url="https://shop.example.com/voice")
    )
)
applications_api.applications_update(id, UpdateApplication(name="Shop 2"))
applications = applications_api.applications_list()
shown = applications_api.applications_show(id)

webhooks_api = WebhooksApi(client_of(customer))
webhook_id = id_of(
    webhooks_api.webhooks_create(
        CreateWebhook(
            event=EventKind.CDRCREATED,
            resource="all",
            target_url="https://hooks.example.com/switchhook",
            retry=CreateWebhookRetry(schedule=[10, 60]),
            signature=Signature.ED25519,
            headers={"X-Api-Key": "f2c1a0b9"},
            payload={"order": 4711},
        )
    )
)
webhooks_api.webhooks_update(webhook_id, UpdateWebhook(name="Billing"))
webhooks = webhooks_api.webhooks_list()
webhook = webhooks_api.webhooks_show(webhook_id)

events_api = EventsApi(client_of(platform))


def event_of(application_id):
    return ReportedEvent(
        event=EventKind.CDRCREATED,
        resource=Resource.CALL,
        application_id=application_id,
        data={"duration": 33},
    )


reported = events_api.events_report(event_of(id))
batch = events_api.events_report_batch(EventBatch(events=[event_of(id), event_of("0")]))

webhooks_api.webhooks_delete(webhook_id)
applications_api.applications_delete(id)
try:
    applications_api.applications_show(id)
    refusal = None
except NotFoundException as error:
    refusal = json.loads(error.body)["code"]

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
            "headers": webhook.headers,
            "payload": webhook.payload,
            "deliveries": reported.deliveries,
            "batch": [one.deliveries if one.code is None else one.code for one in batch.results],
            "refusal": refusal,
        }
    )
)
