--[[ note-failure: an attempt of a subscription failed; disables the subscription if none has succeeded for long enough.
  Atomic because: of many processes that fail at once only one may disable it and report that; and after a person enables it,
  earlier failures must not count.
  A pause between two failures that is longer than ARGV 4 starts a new outage.
  KEYS 1 health
  ARGV 1 now, ms · 2 when an attempt last succeeded, ms · 3 failing time after which it is disabled, ms, 0: never
       4 longest pause, ms · 5 reason
  RETURN "failing" | "disabling" (by this call) | "disabled" (before)    Cost O(1). Never calls TIME. ]]
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
