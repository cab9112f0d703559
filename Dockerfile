# Build with everything, ship with what runs: three stages, no development packages, no root.
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
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund

FROM node:22-alpine
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
USER node
# No init program: changefeed handles SIGTERM and SIGINT itself, and the only processes it may start (a private Redis)
# are not there in this image: Redis is named with REDIS_URL.
ENTRYPOINT ["node", "dist/src/cli/main.js"]
CMD ["start"]
