--[[ take-budget: takes requests from a workspace's budget, as many as no window has too many of, and says when the next one is free.
  Atomic because: two processes that read the same free requests would both send them.
  The clock is the TTL of the budget: now = `ends` - PTTL. So times are those of one clock, the server's, whatever the clocks of the
  processes say, as with TIME; but a budget that is not used for a while needs no key, and a step of the server's clock can be seen: back,
  time would be before the last call, and goes on from there; forward, it ages the window, as it ages any key.
  A time stored from TIME would be in the future after a step back, and block the budget for as long as the step was.
  A number that is damaged counts as none: a time that is too large to count on from would block the budget for ever.
  The window has the time of every request. A request leaves it 1 ms later, which covers the rounding of the TTL. After a refusal, only a
  process that knows of it gets requests: how many are allowed is computed there.
  KEYS 1 budget · 2 window · 3 pause
  ARGV 1 requests wanted · 2 requests allowed per window · 3 at once · 4 window ms · 5 refusal known or "" · 6 TTL ms
  RETURN {"granted", requests, ms until the next} · {"other", refusal, level, ms ago}
    · {"none"} (no refusal)    Cost O(requests log window). Never calls TIME. ]]
--- @include "number"
local wanted, allowed, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local window, ttl = tonumber(ARGV[4]), tonumber(ARGV[6])
local left = redis.call('PTTL', KEYS[1])
local stored = redis.call('HMGET', KEYS[1], 'ends', 'last', 'free', 'refusal', 'level', 'count')
local ends, last, free = number(stored[1], ttl), number(stored[2], 0), number(stored[3], 0)
local refusal, count = stored[4], number(stored[6], 0)

local now = 0
if left < 0 then
  redis.call('DEL', KEYS[2])
else
  now = math.max(last, ends - left)
  ends = now + left
end

if (refusal or '') ~= ARGV[5] then
  if not refusal then return { 'none' } end
  return { 'other', refusal, stored[5], now - number(refusal, now) }
end

local pause = redis.call('PTTL', KEYS[3])
if pause > 0 then return { 'granted', 0, pause } end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - window - 1)
local used = redis.call('ZCARD', KEYS[2])

-- Even spacing: `free` is when the next request would be due if none came early; a burst may be that many ahead.
local price = window / allowed
local early = (burst - 1) * price
-- No request is due later than a window from now, whatever is stored: nobody would ask again before.
free = math.min(free, now + window)
local due = math.max(free, now)
local granted = math.max(0, math.min(wanted, allowed - used, math.floor((now + early - due) / price + 1.000001)))
if granted > 0 then free = due + granted * price end
for nth = 1, granted do redis.call('ZADD', KEYS[2], now, string.format('%d', count + nth)) end

if left < ttl / 2 then ends = now + ttl end
redis.call('HSET', KEYS[1], 'ends', string.format('%d', ends), 'last', string.format('%d', now),
  'free', string.format('%.6f', free), 'count', string.format('%d', count + granted), 'used', used + granted)
if ends == now + ttl then redis.call('PEXPIRE', KEYS[1], ttl) end
if granted > 0 then redis.call('PEXPIRE', KEYS[2], 2 * window) end

local wait = math.max(0, free - early - now)
if used + granted >= allowed then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
  wait = math.max(wait, oldest and oldest + window + 1 - now or 0)
end
return { 'granted', granted, math.ceil(wait) }
