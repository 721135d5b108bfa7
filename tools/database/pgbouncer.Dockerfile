FROM debian:13-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends pgbouncer \
  && rm -rf /var/lib/apt/lists/*
COPY pgbouncer.ini /etc/pgbouncer/
USER nobody
# In that file, a quotation mark within a password is written twice.
CMD quoted() { printf %s "$1" | sed 's/"/""/g'; } \
  && printf '"switchhook_%s" "%s"\n' api "$(quoted "$API_PASSWORD")" worker "$(quoted "$WORKER_PASSWORD")" \
  > /tmp/users.txt \
  && exec pgbouncer /etc/pgbouncer/pgbouncer.ini
