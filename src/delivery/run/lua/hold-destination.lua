--[[ hold-destination: a destination has refused an attempt for a time, or what went alone after such a refusal has ended in another way (take-turn).
  Atomic because: of several refusals the longest holds, and the delivery that was refused first is the one that goes when it is over.
  KEYS 1 pace · 2 turns
  ARGV 1 subscription/job · 2 for how long, ms; '': it has ended · 3 "next": its delivery is tried again · "gone"
  RETURN "held" | "over"    Cost O(n) of the turns. Calls TIME, as take-turn. ]]
local held, probe, alone = unpack(redis.call('HMGET', KEYS[1], 'held', 'probe', 'alone'))
if ARGV[2] == '' then
  -- A refusal meanwhile has removed `alone`.
  if alone and probe == ARGV[1] then redis.call('HDEL', KEYS[1], 'held', 'probe', 'alone') end
  return 'over'
end
local seconds, micros = unpack(redis.call('TIME'))
local now = seconds * 1000 + math.floor(micros / 1000)
local untilMs = math.max(tonumber(held) or 0, now + tonumber(ARGV[2]))
if not held or probe == '' or probe == ARGV[1] then probe = ARGV[3] == 'next' and ARGV[1] or '' end
redis.call('HSET', KEYS[1], 'at', now, 'held', untilMs, 'probe', probe)
redis.call('HDEL', KEYS[1], 'alone')
redis.call('PEXPIRE', KEYS[1], untilMs - now + 3600000)
-- Who waits for a turn asks for another one then.
redis.call('DEL', KEYS[2])
return 'held'
