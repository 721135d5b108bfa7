import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ApplicationsApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.Address;
import org.openapitools.client.model.CreateApplication;
import org.openapitools.client.model.CreateWebhook;
import org.openapitools.client.model.CreateWebhookRetry;
import org.openapitools.client.model.EventBatch;
import org.openapitools.client.model.EventKind;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.ReportedEvent;
import org.openapitools.client.model.Resource;
import org.openapitools.client.model.Signature;
import org.openapitools.client.model.UpdateApplication;
import org.openapitools.client.model.UpdateWebhook;

public class OpenApiGenerator {
  public static void main(String[] args) throws Exception {
    ApiClient customer = clientOf(args[0], args[1]);
    ApplicationsApi applicationsApi = new ApplicationsApi(customer);
    String id =
        idOf(
            applicationsApi.applicationsCreate(
                new CreateApplication()
                    .name("Shop")
                    .voiceUrl("https://shop.example.com/voice")
                    .messagingUrl(null),
                null));
    applicationsApi.applicationsUpdate(id, new UpdateApplication().name("Shop 2"), null);
    var applications = applicationsApi.applicationsList(null, null, null);
    var shown = applicationsApi.applicationsShow(id, null);

    WebhooksApi webhooksApi = new WebhooksApi(customer);
    String webhookId =
        idOf(
            webhooksApi.webhooksCreate(
                new CreateWebhook()
                    .event(EventKind.CDR_CREATED)
                    .resource("all")
                    .targetUrl("https://hooks.example.com/switchhook")
                    .retry(new CreateWebhookRetry().schedule(List.of(10, 60)))
                    .signature(Signature.ED25519)
                    .headers(Map.of("X-Api-Key", "f2c1a0b9"))
                    .payload(Map.of("order", 4711)),
                null));
    webhooksApi.webhooksUpdate(webhookId, new UpdateWebhook().name("Billing"), null);
    var webhooks = webhooksApi.webhooksList(null, null, null, null, null, null, null, null);
    var webhook = webhooksApi.webhooksShow(webhookId, null);

    EventsApi eventsApi = new EventsApi(clientOf(args[0], args[2]));
    var reported = eventsApi.eventsReport(eventOf(id), null);
    var batch =
        eventsApi.eventsReportBatch(
            new EventBatch().events(List.of(eventOf(id), eventOf("0"))), null);

    webhooksApi.webhooksDelete(webhookId, null);
    applicationsApi.applicationsDelete(id, null);
    String refusal = null;
    try {
      applicationsApi.applicationsShow(id, null);
    } catch (ApiException error) {
      var body = error.getResponseBody();
      refusal = customer.getObjectMapper().readValue(body, Problem.class).getCode().getValue();
    }

    Map<String, Object> output = new LinkedHashMap<>();
    output.put("applications", applications.size());
    output.put("name", shown.getName());
    output.put("voiceUrl", shown.getVoiceUrl());
    output.put("webhooks", webhooks.size());
    output.put("label", webhook.getName());
    output.put("signature", webhook.getSignature());
    output.put("schedule", webhook.getRetry().getSchedule());
    output.put("headers", webhook.getHeaders());
    output.put("payload", webhook.getPayload());
    output.put("deliveries", reported.getDeliveries());
    output.put(
        "batch",
        batch.getResults().stream()
            .map(one -> one.getCode() == null ? one.getDeliveries() : one.getCode().getValue())
            .toList());
    output.put("refusal", refusal);
    System.out.println(customer.getObjectMapper().writeValueAsString(output));
  }

  static ApiClient clientOf(String baseUri, String login) {
    String token = Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    ApiClient client = new ApiClient();
    client.updateBaseUri(baseUri);
    client.setRequestInterceptor(request -> request.header("Authorization", "Basic " + token));
    return client;
  }

  static String idOf(Address address) {
    String path = address.getHref().getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  static ReportedEvent eventOf(String applicationId) {
    return new ReportedEvent()
        .event(EventKind.CDR_CREATED)
        .resource(Resource.CALL)
        .applicationId(applicationId)
        .data(Map.of("duration", 33));
  }
}
