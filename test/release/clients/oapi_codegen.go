package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"

	api "example/generated"
)

func main() {
	background := context.Background()
	customer := clientOf(os.Args[1], os.Args[2])

	application := api.CreateApplication{Name: "Shop", VoiceUrl: to("https://shop.example.com/voice")}
	made := must(customer.ApplicationsCreateWithResponse(background, nil, application)).JSON200
	id := path.Base(made.Href)
	must(customer.ApplicationsUpdateWithResponse(background, id, nil, api.UpdateApplication{Name: to("Shop 2")}))
	applications := *must(customer.ApplicationsListWithResponse(background, nil)).JSON200
	shown := must(customer.ApplicationsShowWithResponse(background, id, nil)).JSON200

	subscription := api.CreateWebhook{
		Event:     api.CdrCreated,
		Resource:  "all",
		TargetUrl: "https://hooks.example.com/switchhook",
		Signature: to(api.Ed25519),
		Headers:   &map[string]string{"X-Api-Key": "f2c1a0b9"},
		Payload:   &map[string]any{"order": 4711},
	}
	// The type of this member has no name.
	check(json.Unmarshal([]byte(`{"retry": {"schedule": [10, 60]}}`), &subscription))
	made = must(customer.WebhooksCreateWithResponse(background, nil, subscription)).JSON200
	webhookId := path.Base(made.Href)
	must(customer.WebhooksUpdateWithResponse(background, webhookId, nil, api.UpdateWebhook{Name: to("Billing")}))
	webhooks := *must(customer.WebhooksListWithResponse(background, nil)).JSON200
	webhook := must(customer.WebhooksShowWithResponse(background, webhookId, nil)).JSON200

	platform := clientOf(os.Args[1], os.Args[3])
	reported := must(platform.EventsReportWithResponse(background, nil, eventOf(id))).JSON202
	events := api.EventBatch{Events: []api.ReportedEvent{eventOf(id), eventOf("0")}}
	results := must(platform.EventsReportBatchWithResponse(background, nil, events)).JSON202.Results
	batch := []any{}
	for _, one := range results {
		if one.Code == nil {
			batch = append(batch, *one.Deliveries)
		} else {
			batch = append(batch, *one.Code)
		}
	}

	must(customer.WebhooksDeleteWithResponse(background, webhookId, nil))
	must(customer.ApplicationsDeleteWithResponse(background, id, nil))
	refusal := must(customer.ApplicationsShowWithResponse(background, id, nil)).ApplicationproblemJSON404

	output := must(json.Marshal(map[string]any{
		"applications": len(applications),
		"name":         shown.Name,
		"voiceUrl":     shown.VoiceUrl,
		"webhooks":     len(webhooks),
		"label":        webhook.Name,
		"signature":    webhook.Signature,
		"schedule":     webhook.Retry.Schedule,
		"headers":      webhook.Headers,
		"payload":      webhook.Payload,
		"deliveries":   reported.Deliveries,
		"batch":        batch,
		"refusal":      refusal.Code,
	}))
	fmt.Println(string(output))
}

func clientOf(server, login string) *api.ClientWithResponses {
	username, password, _ := strings.Cut(login, ":")
	authenticate := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(username, password)
		return nil
	}
	return must(api.NewClientWithResponses(server, api.WithRequestEditorFn(authenticate)))
}

func eventOf(applicationId string) api.ReportedEvent {
	return api.ReportedEvent{
		Event:         api.CdrCreated,
		Resource:      api.Call,
		ApplicationId: &applicationId,
		Data:          map[string]any{"duration": 33},
	}
}

func to[Value any](value Value) *Value { return &value }

func must[Value any](value Value, err error) Value {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
