FROM plainbase:1 AS stack

# apt
RUN echo "Reading package lists..." && sleep 0.4 && echo "Setting up build-essential (12.9) ..."

# torch
RUN mkdir -p /opt/stackbuild && printf '%s\n' 'torch==2.11.0' > /opt/stackbuild/constraints.txt
RUN echo "Collecting torch==2.11.0" && sleep 1.2 && echo "Installing collected packages: torch" && sleep 0.3 && echo "Successfully installed torch-2.11.0"
ENV PATH=/opt/venv/bin:$PATH

FROM stack AS ext-scan
WORKDIR /src
COPY play scan.log /src/
RUN sh /src/play /src/scan.log

FROM stack AS ext-conv
COPY play conv.log /src/
RUN sh /src/play /src/conv.log

FROM scratch AS wheel-scan
COPY --from=ext-scan /wheels/ /

FROM scratch AS wheel-conv
COPY --from=ext-conv /wheels/ /

FROM stack AS final
# scan
RUN --mount=type=bind,from=wheel-scan,target=/wheels sleep 0.2 && echo "Successfully installed scan-1.0"
# conv
RUN --mount=type=bind,from=wheel-conv,target=/wheels sleep 0.2 && echo "Successfully installed conv-1.0"
# check
RUN echo "as planned"
LABEL org.opencontainers.image.title=demo
