--[[ end-notice: publishes that a problem is over, once.
  Atomic because: another process may see the problem again at the same time, and of several that miss it only one publishes its end.
  KEYS 1 notices · 2 log
  ARGV 1 problem · 2 subject · 3 last seen, ms, as it was read · 4 event up to its sequence · 5 event after its sequence
  RETURN {"over" | "seen"}    Cost O(1). Never calls TIME. ]]
local field = 'open ' .. ARGV[1]
if redis.call('HGET', KEYS[1], field) ~= ARGV[3] then return { 'seen' } end
redis.call('HDEL', KEYS[1], field, 'facts ' .. ARGV[1])
local sequence = redis.call('HINCRBY', KEYS[1], 'count ' .. ARGV[2], 1)
redis.call('XADD', KEYS[2], '*', 'event', ARGV[4] .. string.format('%d', sequence) .. ARGV[5])
return { 'over' }
