--[[ take-turn: when one attempt may go to a destination, whichever subscription, workspace or process it is of.
  Atomic because: of many that ask at once only one may have a turn.
  A turn within ARGV 6 is reserved, and its attempt asks again when it has come. After a refusal (hold-destination) nothing goes until its time is
  over. Then one attempt goes alone: that of the refused delivery, or another one where it does not come within some seconds.
  Where the clock went back, what is kept is of no use and is removed.
  KEYS 1 pace · 2 turns · 3 sent
  ARGV 1 subscription/job · 2 attempt · 3 interval, ms · 4 most in a window, 0: any number · 5 the window, ms · 6 longest reservation, ms
       7 how long an attempt may take, ms
  RETURN {"go"} · {"alone"}: go, and say how it ended · {"wait", ms}: ask again then · {"rest", ms}: the same, nothing is reserved
  Cost O(log n + ARGV 4). Calls TIME: the clock of Redis is the only one that all processes share. ]]
local PROBE_MS, POLL_MS, KEPT_MS = 5000, 250, 3600000
local id = ARGV[1]
local sending = id .. '#' .. ARGV[2]
local interval, most, window, longest = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local at, last, held, probe, alone = unpack(redis.call('HMGET', KEYS[1], 'at', 'last', 'held', 'probe', 'alone'))
if not held and interval == 0 and most == 0 then return {'go'} end
local seconds, micros = unpack(redis.call('TIME'))
local now = seconds * 1000 + math.floor(micros / 1000)
if now < (tonumber(at) or 0) - 1000 then
  redis.call('DEL', unpack(KEYS))
  last, held = nil, nil
end
last, held = tonumber(last) or 0, tonumber(held)

if held then
  if now < held then return {held - now > longest and 'rest' or 'wait', held - now} end
  local isWaitedFor = now < (tonumber(alone) or held + PROBE_MS)
  if isWaitedFor and probe ~= '' and probe ~= id then return {'wait', POLL_MS} end
end

-- Turns are in the order in which they were asked for. One that comes late, because its process was slow, keeps its distance from the last.
local own = tonumber(redis.call('ZSCORE', KEYS[2], id))
local turn = math.max(now, interval == 0 and 0 or last + interval)
if own then
  turn = math.max(turn, own)
else
  local line = tonumber(redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2])
  if line and interval > 0 then turn = math.max(turn, line + interval) end
  local earlier = most > 0 and tonumber(redis.call('ZREVRANGE', KEYS[3], most - 1, most - 1, 'WITHSCORES')[2])
  if earlier then turn = math.max(turn, earlier + window) end
  if turn - now > longest then return {'rest', turn - now - math.floor(longest / 2)} end
end

redis.call('HSET', KEYS[1], 'at', now)
redis.call('PEXPIRE', KEYS[1], KEPT_MS)
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - window)
  redis.call('ZADD', KEYS[3], turn, sending)
  redis.call('PEXPIRE', KEYS[3], window + longest)
end
if turn > now then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - window)
  redis.call('ZADD', KEYS[2], turn, id)
  redis.call('PEXPIRE', KEYS[2], window + longest)
  return {'wait', turn - now}
end
redis.call('ZREM', KEYS[2], id)
redis.call('HSET', KEYS[1], 'last', now)
if not held then return {'go'} end
redis.call('HSET', KEYS[1], 'probe', id, 'alone', now + tonumber(ARGV[7]))
return {'alone'}
