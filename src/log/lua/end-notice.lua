--[[ end-notice: publishes that a problem is over, once.
  Atomic because: another process may see the problem again at the same time, and of several that miss it only one publishes its end.
  KEYS 1 notices · 2 log · 3 state
  ARGV 1 problem · 2 subject · 3 last seen, ms, as it was read · 4 event up to its sequence · 5 event after its sequence
       6 type of the event · 7 id of the step, different each time
  RETURN {"over", step} · {"seen"} · {"elsewhere"}: an epoch must begin on this server first    Cost O(1). Never calls TIME. ]]
--- @include "append-event"
--- @include "server"
--- @include "count-notice"
--- @include "step"
if isElsewhere(KEYS[3]) then return { 'elsewhere' } end
local field = 'open ' .. ARGV[1]
if redis.call('HGET', KEYS[1], field) ~= ARGV[3] then return { 'seen' } end
redis.call('HDEL', KEYS[1], field, 'facts ' .. ARGV[1])
appendEvent(KEYS[2], ARGV[4] .. countNotice(KEYS[1], ARGV[2], firstSequence(KEYS[3])) .. ARGV[5], ARGV[6], ARGV[2])
return { 'over', nextStep(KEYS[1], ARGV[7]) }
