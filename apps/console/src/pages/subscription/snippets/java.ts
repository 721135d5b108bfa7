import type { Snippet } from './snippet.js';

const main = `  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(4000), 0);
    server.createContext("/", exchange -> {
      int status = 400;
      try {
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (isGenuine(exchange.getRequestHeaders(), body)) {
          System.out.println("genuine " + new String(body, UTF_8));
          status = 204;
        }
      } catch (GeneralSecurityException | IllegalArgumentException error) {
        // A header is malformed.
      }
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    server.start();
  }
}
`;

const content = `    String id = headers.getFirst("webhook-id");
    String timestamp = headers.getFirst("webhook-timestamp");
    String signatures = headers.getFirst("webhook-signature");
    if (id == null || timestamp == null || signatures == null) return false;
    long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
    if (Math.abs(age) > 300) return false;`;

export const JAVA: Snippet = {
  language: 'Java',
  run: 'java Receiver.java',
  needs: {},
  code: {
    'hmac-sha256': `// Receiver.java
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  private static final byte[] KEY =
      Base64.getDecoder().decode(System.getenv("WEBHOOK_SECRET").replace("whsec_", ""));

  private static boolean isGenuine(Headers headers, byte[] body) throws GeneralSecurityException {
${content}
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
    String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    for (String given : signatures.split(" ")) {
      if (MessageDigest.isEqual(given.getBytes(UTF_8), expected.getBytes(UTF_8))) return true;
    }
    return false;
  }

${main}`,
    ed25519: `// Receiver.java
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;

public class Receiver {
  private static PublicKey key() throws GeneralSecurityException {
    byte[] bytes =
        Base64.getDecoder().decode(System.getenv("WEBHOOK_PUBLIC_KEY").replace("whpk_", ""));
    // Java reads a key with the prefix that says which algorithm it is of.
    ByteArrayOutputStream encoded = new ByteArrayOutputStream();
    encoded.writeBytes(HexFormat.of().parseHex("302a300506032b6570032100"));
    encoded.writeBytes(bytes);
    return KeyFactory.getInstance("Ed25519")
        .generatePublic(new X509EncodedKeySpec(encoded.toByteArray()));
  }

  private static boolean isGenuine(Headers headers, byte[] body) throws GeneralSecurityException {
${content}
    for (String given : signatures.split(" ")) {
      if (!given.startsWith("v1a,")) continue;
      Signature signature = Signature.getInstance("Ed25519");
      signature.initVerify(key());
      signature.update((id + "." + timestamp + ".").getBytes(UTF_8));
      signature.update(body);
      byte[] bytes = Base64.getDecoder().decode(given.substring(4));
      if (bytes.length == 64 && signature.verify(bytes)) return true;
    }
    return false;
  }

${main}`,
  },
};
