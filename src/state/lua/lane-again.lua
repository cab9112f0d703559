--[[ lane-again: events that are sent beside the log (a replay, a snapshot) take places behind all that were entered, in the
  order given, once: what lies at or before the furthest mark of its feed has been entered before.
  Atomic because: two feeds at once must not interleave the events of one record, and a repeated batch must change nothing.
  KEYS 1 lanes · 2 pending · 3 entered · 4 revived · 5 mark of the feed
  ARGV 1 life of the mark, ms · 2 n · n × (workspace, lane or "", place, event id, mark), marks growing
  RETURN n × ("head" | "behind" | "left"), then n × ("fresh" | "known")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local PLACE_WIDTH = 35
local n = tonumber(ARGV[2])
local furthestMark = redis.call('GET', KEYS[5]) or ''
local answer = {}

local function give(workspace, lane, place, id)
  local furthest = redis.call('HGET', KEYS[3], workspace) or place
  local count = redis.call('HINCRBY', KEYS[4], '', 1)
  local given = string.sub(furthest, 1, PLACE_WIDTH - 8) .. string.format('%08d', count % 100000000)
  redis.call('HSET', KEYS[4], id, given)
  redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. given)
  if lane ~= '' then redis.call('ZADD', KEYS[1], 0, lane .. SEP .. given .. SEP .. id) end
  return given
end

for i = 1, n do
  local at = 5 * i - 2
  local workspace, lane, place, id, mark = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local fresh = mark > furthestMark
  if fresh then furthestMark = mark end
  local given = redis.call('HGET', KEYS[4], id)
  if fresh and not given then given = give(workspace, lane, place, id) end
  if not given then
    answer[i] = 'left'
  elseif lane == '' then
    answer[i] = 'head'
  else
    local head = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, 1)[1]
    answer[i] = head == lane .. SEP .. given .. SEP .. id and 'head' or 'behind'
  end
  answer[n + i] = fresh and 'fresh' or 'known'
end

if n > 0 then redis.call('SET', KEYS[5], furthestMark, 'PX', ARGV[1]) end
return answer
