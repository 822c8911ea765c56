# The image of stackbuild with a docker client: for GitLab (STACKBUILD_IMAGE), and for use without installing anything.
#
#   make dist && docker build -t stackbuild .
#   docker run --rm -v "$PWD:/work" stackbuild check recipe.yaml
FROM debian:13-slim
ARG TARGETARCH=amd64
RUN --mount=type=bind,source=dist,target=/dist \
    apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates docker-buildx docker-cli git \
        /dist/stackbuild_*_${TARGETARCH}.deb \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["stackbuild"]
CMD ["--help"]
