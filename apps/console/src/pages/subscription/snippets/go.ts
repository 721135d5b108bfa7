import type { Snippet } from './snippet.js';

const content = `	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	content := append([]byte(id+"."+timestamp+"."), body...)`;

const main = `
func main() {
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !isGenuine(r.Header, body) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		log.Printf("genuine %s", body)
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":4000", nil))
}
`;

export const GO: Snippet = {
  language: 'Go',
  run: 'go run receiver.go',
  needs: {},
  code: {
    'hmac-sha256': `// receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(headers http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("WEBHOOK_SECRET is not a secret")
	}
${content}
	mac := hmac.New(sha256.New, key)
	mac.Write(content)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}
${main}`,
    ed25519: `// receiver.go
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(headers http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_PUBLIC_KEY"), "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		log.Fatal("WEBHOOK_PUBLIC_KEY is not a public key")
	}
${content}
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		version, encoded, _ := strings.Cut(given, ",")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && version == "v1a" && ed25519.Verify(key, content, signature) {
			return true
		}
	}
	return false
}
${main}`,
  },
};
