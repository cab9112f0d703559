--[[ lane-revive: gives a dead letter that is tried again its place in its lane, once for each time it is tried again: behind
  all that were entered, before all that will be. One that held its lane still stands at its head, and keeps that place.
  The place is noted on the job and goes with it, so that what has left its lane is known to have left however late it is asked.
  Atomic because: a run that lost its job must not put the event in again; nobody would ever make it leave. Nor must whoever
  had it tried again, unless it is still to be run.
  KEYS 1 lanes · 2 pending · 3 entered · 4 revived · 5 job · 6 lock of the job
  ARGV 1 workspace · 2 lane · 3 place · 4 event id · 5 token of the lock, "" for whoever had it tried again · 6 number of the life
  RETURN "placed", place | "taken-over", ""    Cost O(log pending). Never calls TIME. ]]
local SEP = '\31'
local PLACE_WIDTH = 35
local NOTE = 'changefeed:revival'
local workspace, lane, place, id, token, life = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local noted = redis.call('HGET', KEYS[5], NOTE)
if noted and string.sub(noted, 1, #life + 1) == life .. ' ' then return { 'placed', string.sub(noted, #life + 2) } end
if token == '' then
  local ended = redis.call('EXISTS', KEYS[5]) == 0 or redis.call('HEXISTS', KEYS[5], 'finishedOn') == 1
  if ended then return { 'taken-over', '' } end
elseif redis.call('GET', KEYS[6]) ~= token then
  return { 'taken-over', '' }
end

local given = redis.call('HGET', KEYS[4], id)
if not given and redis.call('ZSCORE', KEYS[1], lane .. SEP .. place .. SEP .. id) then given = place end
if not given then
  local furthest = redis.call('HGET', KEYS[3], workspace) or place
  local count = redis.call('HINCRBY', KEYS[4], '', 1)
  given = string.sub(furthest, 1, PLACE_WIDTH - 8) .. string.format('%08d', count % 100000000)
  redis.call('HSET', KEYS[4], id, given)
  redis.call('ZADD', KEYS[1], 0, lane .. SEP .. given .. SEP .. id)
end
redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. given)
redis.call('HSET', KEYS[5], NOTE, life .. ' ' .. given)
return { 'placed', given }
