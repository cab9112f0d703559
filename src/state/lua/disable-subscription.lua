--[[ disable-subscription: disables a subscription that is enabled.
  Atomic because: only the first of several processes may set the reason and report it.
  KEYS 1 health    ARGV 1 now, ms · 2 reason
  RETURN "disabling" (by this call) | "disabled" (before)    Cost O(1). Never calls TIME. ]]
if redis.call('HSETNX', KEYS[1], 'disabledAt', ARGV[1]) == 0 then return 'disabled' end
redis.call('HSET', KEYS[1], 'reason', ARGV[2])
return 'disabling'
