FROM debian:12-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends pgbouncer \
  && rm -rf /var/lib/apt/lists/*
COPY pgbouncer.ini /etc/pgbouncer/
USER nobody
CMD printf '"switchhook_%s" "%s"\n' api "$API_PASSWORD" worker "$WORKER_PASSWORD" > /tmp/users.txt \
  && exec pgbouncer /etc/pgbouncer/pgbouncer.ini
