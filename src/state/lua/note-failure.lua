--[[ note-failure: a try of a subscription failed; disables it when none has succeeded for long enough.
  Atomic because: of many processes that fail at once only one shall disable it and say so, and a failure that is noted
  while a person enables the subscription must not count from before that.
  A pause between two failures that is longer than ARGV 4 begins anew: no outage is known of in between.
  KEYS 1 health
  ARGV 1 now, ms · 2 when a try last succeeded, ms · 3 it is disabled after so many ms, 0: never · 4 longest pause, ms · 5 reason
  RETURN "failing" | "disabling" | "disabled"    Cost O(1). Never calls TIME. ]]
local now = tonumber(ARGV[1])
local since, last, at = unpack(redis.call('HMGET', KEYS[1], 'failingSince', 'lastFailure', 'disabledAt'))
since = tonumber(since)
if at then return 'disabled' end
if not since or since <= tonumber(ARGV[2]) or now - tonumber(last) > tonumber(ARGV[4]) then since = now end
redis.call('HSET', KEYS[1], 'failingSince', since, 'lastFailure', now)
local limit = tonumber(ARGV[3])
if limit == 0 or now - since < limit then return 'failing' end
redis.call('HSET', KEYS[1], 'disabledAt', now, 'reason', ARGV[5])
return 'disabling'
