import json
import sys

from generated import ApiClient, Configuration
from generated.api import ApplicationsApi, EventsApi, WebhooksApi
from generated.exceptions import NotFoundException
from generated.models import (
    CreateApplication,
    CreateWebhook,
    CreateWebhookRetry,
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
        )
    )
)
webhooks_api.webhooks_update(webhook_id, UpdateWebhook(name="Billing"))
webhooks = webhooks_api.webhooks_list()
webhook = webhooks_api.webhooks_show(webhook_id)

reported = EventsApi(client_of(platform)).events_report(
    ReportedEvent(
        event=EventKind.CDRCREATED,
        resource=Resource.CALL,
        application_id=id,
        data={"duration": 33},
    )
)

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
            "deliveries": reported.deliveries,
            "refusal": refusal,
        }
    )
)
