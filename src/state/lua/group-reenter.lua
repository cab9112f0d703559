--[[ group-reenter: a retried dead letter enters its ordering group again, once per retry: after all events entered so far. If it
  held its group, it is still the head and keeps its position. The position is also noted on the job, so that a late call after
  the event has left does not enter it again.
  Atomic because: a run that lost its job must not enter the event, since no run would make it leave. The same holds for a person's
  retry of a job that has ended already.
  KEYS 1 groups · 2 pending · 3 entered · 4 positions · 5 job · 6 lock of the job
  ARGV 1 workspace · 2 group · 3 position · 4 job id · 5 token of the lock, "" for the retry itself · 6 number of the retry
  RETURN "placed", position | "taken-over", ""    Cost O(log pending). Never calls TIME. ]]
local SEP = '\31'
local POSITION_WIDTH = 35
local NOTE = 'changefeed:reentry'
local workspace, group, position, id, token, retry = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local noted = redis.call('HGET', KEYS[5], NOTE)
if noted and string.sub(noted, 1, #retry + 1) == retry .. ' ' then return { 'placed', string.sub(noted, #retry + 2) } end
if token == '' then
  local ended = redis.call('EXISTS', KEYS[5]) == 0 or redis.call('HEXISTS', KEYS[5], 'finishedOn') == 1
  if ended then return { 'taken-over', '' } end
elseif redis.call('GET', KEYS[6]) ~= token then
  return { 'taken-over', '' }
end

local given = redis.call('HGET', KEYS[4], id)
if not given and redis.call('ZSCORE', KEYS[1], group .. SEP .. position .. SEP .. id) then given = position end
if not given then
  local furthest = redis.call('HGET', KEYS[3], workspace) or position
  local count = redis.call('HINCRBY', KEYS[4], '', 1)
  given = string.sub(furthest, 1, POSITION_WIDTH - 8) .. string.format('%08d', count % 100000000)
  redis.call('HSET', KEYS[4], id, given)
  redis.call('ZADD', KEYS[1], 0, group .. SEP .. given .. SEP .. id)
end
redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. given)
redis.call('HSET', KEYS[5], NOTE, retry .. ' ' .. given)
return { 'placed', given }
