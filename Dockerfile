# The service, without what it was built with. What a deployment sets is in docs/deploy.md.
FROM python:3.13-slim AS build

WORKDIR /build
# Only wheels, and only those whose digests are in the lock files: nothing is compiled, nothing is resolved anew.
COPY requirements-build.lock requirements.lock ./
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements-build.lock
RUN python -m venv --without-pip /opt/agreement-log \
 && /opt/build/bin/pip --python /opt/agreement-log install --no-cache-dir --require-hashes --only-binary :all: \
      -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY migrations migrations
RUN /opt/build/bin/pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir dist . \
 && /opt/build/bin/pip --python /opt/agreement-log install --no-cache-dir --no-index --no-deps dist/*.whl \
 && /opt/agreement-log/bin/python -m compileall -q /opt/agreement-log/lib


FROM python:3.13-slim

# Known by number, so that an orchestrator can see that it is not root.
RUN groupadd --gid 10001 agreement-log \
 && useradd --uid 10001 --gid agreement-log --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin agreement-log \
 && install -d /etc/agreement-log \
 && install -d -o agreement-log -g agreement-log -m 700 /var/lib/agreement-log
COPY --from=build /opt/agreement-log /opt/agreement-log
COPY deploy/healthcheck.py /opt/agreement-log/bin/healthcheck.py
# A new volume starts with this file: it lets nobody in until `agreement-log token new` writes to it.
COPY --chown=10001:10001 --chmod=600 deploy/no-tokens.json /var/lib/agreement-log/tokens.json

ENV PATH=/opt/agreement-log/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    AGREEMENT_LOG_HOST=0.0.0.0 \
    AGREEMENT_LOG_TOKENS_FILE=/var/lib/agreement-log/tokens.json \
    AGREEMENT_LOG_DESIGNATIONS_FILE=/etc/agreement-log/designations.toml \
    AGREEMENT_LOG_POLICY_FILE=/etc/agreement-log/policy.toml

USER 10001:10001
WORKDIR /var/lib/agreement-log
EXPOSE 8000
# Alive, not ready: restarting the container would not bring a lost database back.
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s CMD ["python", "/opt/agreement-log/bin/healthcheck.py", "/healthz"]
# The service is process 1 itself, so that the signal reaches it: it answers the requests that it has, and ends.
STOPSIGNAL SIGTERM
ENTRYPOINT ["agreement-log"]
CMD ["serve"]
