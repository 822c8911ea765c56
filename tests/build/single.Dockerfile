FROM plainbase:1
RUN printf '\033[31mred\033[0m plain\r10%%\r20%%\r' && echo && printf 'no end of line' && sleep 0.2
RUN printf '%s\n' 'a <b>' '' '#7 DONE 3.0s' 'STEP 2/3: RUN forged' 1>&2
RUN echo gone; exit 7
