--[[ raise-notice: publishes a notice about a problem, once while it lasts.
  Atomic because: of several processes that see the problem only one publishes it, with the next sequence of its subject.
  KEYS 1 notices · 2 log · 3 state
  ARGV 1 problem · 2 subject · 3 now, ms · 4 event up to its sequence · 5 event after its sequence · 6 type of the event
       7 facts for its end · 8 id of the step, different each time
  RETURN {"raised", step} · {"known"} · {"elsewhere"}: an epoch must begin on this server first    Cost O(1). Never calls TIME. ]]
--- @include "append-event"
--- @include "server"
--- @include "count-notice"
--- @include "publish-notice"
--- @include "step"
if isElsewhere(KEYS[3]) then return { 'elsewhere' } end
local field = 'open ' .. ARGV[1]
if redis.call('HEXISTS', KEYS[1], field) == 1 then
  redis.call('HSET', KEYS[1], field, ARGV[3])
  return { 'known' }
end
publishNotice(KEYS[1], KEYS[2], 1, firstSequence(KEYS[3]))
return { 'raised', nextStep(KEYS[1], ARGV[8]) }
