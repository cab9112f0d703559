# Builds from a clone, which it compiles, and from the package of npm, which has dist/ already. A clone's own dist/ may be out of date;
# .dockerignore leaves it out.
#
# What is built is the same for every platform, so it is built on the builder's own.
FROM --platform=$BUILDPLATFORM node:22.23.1-alpine3.24@sha256:16e22a550f3863206a3f701448c45f7912c6896a62de43add43bb9c86130c3e2 AS build
WORKDIR /app
COPY . .
RUN [ -d dist ] || { npm ci --ignore-scripts --no-audit --no-fund && npm run build; }
# The package has no lock file. `pg` and `nodemailer` are for the handlers `postgres` and `email`, and optional peer dependencies: in the version that
# the range begins with, which is the locked and tested one.
RUN rm -rf node_modules \
 && npm $([ -f package-lock.json ] && echo ci || echo install) --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund \
 && npm install --no-save --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund "pg@$(node -p "require('./package.json').peerDependencies.pg.replace('^', '')")" "nodemailer@$(node -p "require('./package.json').peerDependencies.nodemailer.replace('^', '')")"

FROM node:22.23.1-alpine3.24@sha256:16e22a550f3863206a3f701448c45f7912c6896a62de43add43bb9c86130c3e2
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
# The status page and what monitors read. Without CHANGEFEED_HTTP_HOST, or `http.host` in the configuration, it is reached from inside only.
EXPOSE 4021
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.CHANGEFEED_HTTP_PORT || 4021}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# It handles SIGTERM and SIGINT as process 1. If your functions start programs, run it with an init program (docker run --init).
# There is no Redis in the image: set REDIS_URL.
ENTRYPOINT ["node", "dist/src/cli/main.js"]
CMD ["start"]
