# Three stages: compile, install runtime dependencies, and the final image. It has no development packages and does not run as root.
FROM node:22-alpine AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=optional --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY .ci/build.mjs .ci/
COPY src src
COPY workers workers
RUN npm run build

FROM node:22-alpine AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# `pg` is for the handler `postgres`, and an optional peer dependency.
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund \
 && npm install --no-save --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund pg

FROM node:22-alpine
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
USER node
# No init program is needed: changefeed handles SIGTERM and SIGINT, and starts no child processes in this image, because it
# has no Redis server. Set REDIS_URL.
ENTRYPOINT ["node", "dist/src/cli/main.js"]
CMD ["start"]
