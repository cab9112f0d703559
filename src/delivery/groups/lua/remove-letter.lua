--[[ remove-letter: removes a dead letter while its retry is entered, as BullMQ removes a failed job.
  Atomic because: Redis may have gone back to where the letter was and its retry was not entered. A removal then would lose the event.
  KEYS 1 entered of the retry · 2 failed jobs · 3 the job    ARGV 1 serial of the retry · 2 id of the job
  RETURN "removed" (also where it was before) | "forgotten"    Cost O(log dead letters). Never calls TIME. ]]
--- @include "serial"
if not hasEntered(KEYS[1], ARGV[1]) then return 'forgotten' end
-- Before its death, Redis may have it in another state, and run it.
if redis.call('ZREM', KEYS[2], ARGV[2]) == 1 then redis.call('UNLINK', KEYS[3]) end
return 'removed'
