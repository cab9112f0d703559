--[[ note-failure: an attempt of a subscription failed; pauses the subscription if none has succeeded for long enough. A success removes
  `failingSince` (group-advance).
  Atomic because: of many processes that fail at once only one may pause it and report that; and after a person resumes it,
  earlier failures must not count.
  A gap between two failures that is longer than ARGV 3 starts a new outage, and so does a first failure in the future: a clock was ahead.
  KEYS 1 health
  ARGV 1 now, ms · 2 failing time after which it is paused, ms, 0: never · 3 longest gap, ms · 4 reason · 5 error · 6 its workspace
       7 how far ahead another clock may be, ms
  RETURN "failing" | "pausing" (by this call) | "paused" (before)    Cost O(1). Never calls TIME. ]]
local now = tonumber(ARGV[1])
local since, last, at, reason = unpack(redis.call('HMGET', KEYS[1], 'failingSince', 'lastFailure', 'disabledAt', 'reason'))
since = tonumber(since)
-- The same time and reason are those of this call: it was sent again after its reply was lost.
if at then return at == ARGV[1] and reason == ARGV[4] and 'pausing' or 'paused' end
if not since or since > now + tonumber(ARGV[7]) or now - tonumber(last) > tonumber(ARGV[3]) then
  since = now
  redis.call('HDEL', KEYS[1], 'failures')
end
redis.call('HSET', KEYS[1], 'failingSince', since, 'lastFailure', now, 'lastError', ARGV[5], 'lastErrorIn', ARGV[6])
redis.call('HINCRBY', KEYS[1], 'failures', 1)
local limit = tonumber(ARGV[2])
if limit == 0 or now - since < limit then return 'failing' end
redis.call('HSET', KEYS[1], 'disabledAt', now, 'reason', ARGV[4])
return 'pausing'
