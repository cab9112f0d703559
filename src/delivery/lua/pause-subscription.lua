--[[ pause-subscription: pauses a subscription that is not paused.
  Atomic because: only the first of several processes may set the reason and report it. The same time and reason are those of this call: it was
  sent again after its reply was lost.
  KEYS 1 health    ARGV 1 now, ms · 2 reason
  RETURN "pausing" (by this call) | "paused" (before)    Cost O(1). Never calls TIME. ]]
local at, reason = unpack(redis.call('HMGET', KEYS[1], 'disabledAt', 'reason'))
if at then return at == ARGV[1] and reason == ARGV[2] and 'pausing' or 'paused' end
redis.call('HSET', KEYS[1], 'disabledAt', ARGV[1], 'reason', ARGV[2])
return 'pausing'
