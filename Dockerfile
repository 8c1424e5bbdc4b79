# The laboratory, with figures and pages:
#   docker build -t provsel .
#   docker run --rm -v "$PWD/results:/provsel/results" provsel reproduce table1 executor=serial
# The project in the image is this repository; another one is mounted in its place: -v "$PWD:/project" -w /project.

# liblinear-official is compiled, which needs what the image that runs does not; with it, keys are those of the reference.
FROM python:3.11-slim AS build
# A compiler of the image's Debian, whose archive keeps no older versions to be named.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /provsel
COPY pyproject.toml hatch_build.py owner.toml requirements.lock requirements-report.lock Makefile README.md LICENSE ./
COPY conf ./conf
COPY src ./src
RUN make setup-report

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 provsel
WORKDIR /provsel
COPY --from=build /provsel ./
COPY provsel.toml ./
COPY experiments ./experiments
RUN mkdir results && chown provsel results
# A number, as clusters refuse a name that may be root's.
USER 1000
ENV PATH="/provsel/.venv/bin:$PATH" \
    PROVSEL_DATA="/home/provsel/data" \
    OMP_NUM_THREADS=1
ENTRYPOINT ["provsel"]
CMD ["--help"]
