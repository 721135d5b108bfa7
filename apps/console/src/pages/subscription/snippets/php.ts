import type { Snippet } from './snippet.js';

const content = `$body = file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
$content = "$id.$timestamp.$body";

$isGenuine = false;`;

const answer = `if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
    $isGenuine = false;
}

http_response_code($isGenuine ? 204 : 400);
if ($isGenuine) {
    error_log("genuine $body");
}
`;

export const PHP: Snippet = {
  language: 'PHP',
  run: 'php -S 127.0.0.1:4000 receiver.php',
  needs: {},
  code: {
    'hmac-sha256': `<?php
// receiver.php: the headers are webhook-id, webhook-timestamp and webhook-signature.
$key = base64_decode(str_replace('whsec_', '', getenv('WEBHOOK_SECRET')));
${content}
$expected = 'v1,' . base64_encode(hash_hmac('sha256', $content, $key, true));
foreach ($signatures as $given) {
    $isGenuine = $isGenuine || hash_equals($expected, $given);
}
${answer}`,
    ed25519: `<?php
// receiver.php: the headers are webhook-id, webhook-timestamp and webhook-signature.
$key = base64_decode(str_replace('whpk_', '', getenv('WEBHOOK_PUBLIC_KEY')));
${content}
foreach ($signatures as $given) {
    [$version, $base64] = explode(',', $given . ',');
    $signature = base64_decode($base64);
    if ($version === 'v1a' && strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES) {
        $isGenuine = $isGenuine || sodium_crypto_sign_verify_detached($signature, $content, $key);
    }
}
${answer}`,
  },
};
