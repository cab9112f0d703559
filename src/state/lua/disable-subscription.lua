--[[ disable-subscription: marks a subscription as disabled, unless it is.
  Atomic because: whoever disables it first says so and gives the reason; the others must not overwrite it.
  KEYS 1 health    ARGV 1 now, ms · 2 reason
  RETURN "disabling" | "disabled"    Cost O(1). Never calls TIME. ]]
if redis.call('HSETNX', KEYS[1], 'disabledAt', ARGV[1]) == 0 then return 'disabled' end
redis.call('HSET', KEYS[1], 'reason', ARGV[2])
return 'disabling'
