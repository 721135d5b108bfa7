/** Of a server named localhost that signed it itself; good for nothing else. */
export const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSnUaAYu17fqT24wz
DkRio9H777fQbrrmJKKJzT/md9uhRANCAAQcmwMzRiNXD1nudwArg7hbr3vfxHuK
h6EaPb5GsPpRnTBAsXcyfWjdtYL642QnA+H+6swN9YxL+gnvfH2T+VLf
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUP77exVhEeJ5BFdvGUsRLgr+EwSMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE2NTI1NFoYDzIxMjYxMDI4
MTY1MjU0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQcmwMzRiNXD1nudwArg7hbr3vfxHuKh6EaPb5GsPpRnTBAsXcyfWjd
tYL642QnA+H+6swN9YxL+gnvfH2T+VLfo2kwZzAdBgNVHQ4EFgQUHZc6Yqdeo6fl
NhiZP9VoOf+ynkcwHwYDVR0jBBgwFoAUHZc6Yqdeo6flNhiZP9VoOf+ynkcwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIhAJOgpis/FCu8RFJmlkNNu09hlarQC4vLwTcjEKokptElAiBpfFgeFYvr
/VTgClhpnKWbLx+pUkiYrLQjEB7EjQqhCg==
-----END CERTIFICATE-----`,
};
