#!/bin/sh
# Writes the .env of docker compose: passwords, the key of stored secrets, and the version (docs/operating/install.md).
# An existing .env is kept (-C), because the stores know its passwords.
set -euC
cd "$(dirname "$0")/.."
umask 077
openssl version > /dev/null
{
  for name in POSTGRES MIGRATE API WORKER REDIS; do
    echo "${name}_PASSWORD=$(openssl rand -hex 24)"
  done
  echo "SECRETS_KEYS=k1:$(openssl rand -base64 32)"
  version=$(sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
  commit=$(git describe --always --dirty --abbrev=8 --exclude='*' 2> /dev/null || true)
  # Between releases, each commit has an image of its own.
  case $version in *-dev) version=$version${commit:+-$commit} ;; esac
  echo "SWITCHHOOK_TAG=$version"
} > .env
