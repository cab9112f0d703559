--[[ take-budget: one request's worth of a workspace's budget, or how long to wait for it.
  Atomic because: two processes that read the same remaining budget would both spend it.
  The bucket is a debt in ms, kept as the key's remaining life: the server's own clock drains it, no process's clock is
  asked, and an idle bucket is no key at all. The value holds the fraction of a millisecond that a life cannot.
  KEYS 1 budget · 2 pause    ARGV 1 ms per request · 2 largest debt in ms (the burst)
  RETURN {"granted"} · {"wait", ms}    Cost O(1). ]]
local pause = redis.call('PTTL', KEYS[2])
if pause > 0 then return { 'wait', pause } end
local debt = 0
local life = redis.call('PTTL', KEYS[1])
if life > 0 then debt = math.max(0, life - tonumber(redis.call('GET', KEYS[1]) or '0')) end
local after = debt + tonumber(ARGV[1])
local excess = after - tonumber(ARGV[2])
-- A hair of tolerance: the burst is a multiple of the price, and sums of fractions are not exact.
if excess > 0.001 then return { 'wait', math.ceil(excess) } end
local px = math.ceil(after)
redis.call('SET', KEYS[1], tostring(px - after), 'PX', px)
return { 'granted' }
