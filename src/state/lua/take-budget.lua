--[[ take-budget: takes one request from a workspace's budget, or says how long to wait.
  Atomic because: two processes that read the same remaining budget would both spend it.
  The budget is a debt in ms, kept as the TTL of a key: the server's clock drains it, no process's clock is used, and an unused
  budget needs no key. The value is the fraction of a millisecond that a TTL cannot hold.
  KEYS 1 budget · 2 pause    ARGV 1 ms per request · 2 largest debt in ms (the burst)
  RETURN {"granted"} · {"wait", ms}    Cost O(1). ]]
local pause = redis.call('PTTL', KEYS[2])
if pause > 0 then return { 'wait', pause } end
local debt = 0
local life = redis.call('PTTL', KEYS[1])
if life > 0 then debt = math.max(0, life - tonumber(redis.call('GET', KEYS[1]) or '0')) end
local after = debt + tonumber(ARGV[1])
local excess = after - tonumber(ARGV[2])
-- Tolerance: the burst is a multiple of the price, and sums of fractions are not exact.
if excess > 0.001 then return { 'wait', math.ceil(excess) } end
local px = math.ceil(after)
redis.call('SET', KEYS[1], tostring(px - after), 'PX', px)
return { 'granted' }
